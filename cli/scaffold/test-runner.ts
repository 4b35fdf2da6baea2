import type { Project } from '../project/project.ts'

/** The module that a generated test takes `test` from: what the project runs its tests with. */
export function testModule({ dependencies, runtime }: Pick<Project, 'dependencies' | 'runtime'>): string {
  if (dependencies.has('vitest')) return 'vitest'
  return runtime === 'bun' ? 'bun:test' : 'node:test'
}
