import { expect, test } from 'vitest'
import { defineRoleSpace } from '../library/role-space.ts'
import { Workspace } from '../numerics/workspace.ts'
import { placeSemantics, type RoleVectors } from './semantics.ts'

const space = defineRoleSpace([
  { id: 'both', atomic: true, group: true },
  { id: 'alone', atomic: true, group: false },
])
const vectors: RoleVectors[] = [
  { role: [1, 2], atomic: [3, 4], group: [5, 6] },
  { role: [7, 8], atomic: [9, 10], group: null },
]

test('vectors are in branch order, with zeros for missing realizations', () => {
  const workspace = new Workspace()
  const { roles, branches } = placeSemantics(workspace, space, vectors, 2, 1)
  expect([...workspace.values(roles)]).toEqual([1, 2, 7, 8])
  expect([...workspace.values(branches)]).toEqual([3, 4, 5, 6, 9, 10, 0, 0])
  expect([roles.gradient, branches.gradient]).toEqual([0, 0])
})

test('a gain multiplies them, and zeros stay zero', () => {
  const workspace = new Workspace()
  const { roles, branches } = placeSemantics(workspace, space, vectors, 2, 2.5)
  expect([...workspace.values(roles)]).toEqual([2.5, 5, 17.5, 20])
  expect([...workspace.values(branches)]).toEqual([7.5, 10, 12.5, 15, 22.5, 25, 0, 0])
})

test('vectors that do not match the library are refused by role', () => {
  const place =
    (given: RoleVectors[], semantic = 2) =>
    () =>
      placeSemantics(new Workspace(), space, given, semantic, 1)
  const [both, alone] = vectors as [RoleVectors, RoleVectors]
  expect(place([both])).toThrow('there are 1 role vectors for 2 roles')
  expect(place(vectors, 3)).toThrow('a vector of role both has 2 entries, but 3 are needed')
  expect(place([{ ...both, group: [1] }, alone])).toThrow('a vector of role both has 1 entries')
  expect(place([both, { ...alone, group: [1, 2] }])).toThrow('role alone do not fit its realizations')
  expect(place([{ ...both, atomic: null }, alone])).toThrow('role both do not fit its realizations')
})
