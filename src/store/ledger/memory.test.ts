import { describe } from 'vitest'
import { ledgerContract } from './evaluation-ledger.contract.ts'
import { MemoryLedger } from './memory.ts'

describe('a ledger in memory', () => ledgerContract(async () => new MemoryLedger()))
