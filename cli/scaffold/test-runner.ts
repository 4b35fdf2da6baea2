import type { Project } from '../project/project.ts'

/** The module from which a generated test imports `test`: the test runner of the project. */
export function testModule({ dependencies, runtime }: Pick<Project, 'dependencies' | 'runtime'>): string {
  if (dependencies.has('vitest')) return 'vitest'
  return runtime === 'bun' ? 'bun:test' : 'node:test'
}
