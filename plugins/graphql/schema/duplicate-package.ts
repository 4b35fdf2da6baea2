import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { defineError } from '../../../kernel/index.ts'
import { safely } from '../../shared/values/safely.ts'
import type { Graphql } from '../packages.ts'

export const GraphqlCopiesError = defineError(
  'GraphqlCopiesError',
  (what: string, ours: string, other: string) =>
    `${what} comes from a different copy of the package "graphql" than the one that the plugin loaded: ${ours} here, ${other} there. They must be the same: "npm ls graphql" shows which package depends on which, and "npm dedupe" or a single version in package.json merges them`,
)

function resolved(from: string): string | undefined {
  return safely(() => createRequire(from).resolve('graphql'))
}

function resolvedBy(name: string): string | undefined {
  return safely(() => resolved(createRequire(import.meta.url).resolve(name)))
}

/** Makes the error for a value from another copy of the package, with the paths of both copies as far as they can be found. */
export function copiesError(graphql: Graphql, what: string, owner?: string): Error {
  const own = resolved(import.meta.url)
  const theirs = owner === undefined ? resolved(pathToFileURL(`${process.cwd()}/`).href) : resolvedBy(owner)
  const ours = `version ${graphql.version}${own === undefined ? '' : ` (${own})`}`
  // The same path for both: one was loaded as a module and the other by require(), which some runtimes keep separate.
  const other =
    theirs === undefined
      ? 'a copy that cannot be found'
      : theirs === own
        ? 'the same file, loaded a second time'
        : theirs
  return GraphqlCopiesError(what, ours, other)
}

/** Whether an error of graphql-js reports that two copies were mixed. */
export function isRealmError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('from another module or realm')
}
