import { fast } from './fast.ts'
import type { PolicyImplementation } from './implementation.ts'
import { plain } from './plain.ts'

export const implementations: readonly PolicyImplementation[] = [plain, fast]
