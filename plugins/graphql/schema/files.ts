import { relative } from 'node:path'
import { defineError } from '../../../kernel/index.ts'
import { findFiles } from '../../shared/files/modules.ts'
import { readRegularFile } from '../../shared/files/read-file.ts'
import type { Graphql } from '../packages.ts'
import type { SdlDocument } from '../types.ts'

export const GraphqlFileError = defineError('GraphqlFileError', (where: string, why: string) => `${where}: ${why}`)

/**
 * Reads and parses the files that match the globs, in the order of their paths.
 *
 * @throws GraphqlFileError for a glob that matches no file, and for a mistake in a file, with its line and column.
 */
export async function readSchemaFiles(
  graphql: Graphql,
  patterns: readonly string[],
  folder = process.cwd(),
): Promise<SdlDocument[]> {
  const { files, unmatched } = await findFiles(patterns, folder)
  const [first] = unmatched
  if (first !== undefined) {
    throw GraphqlFileError(`schema.files "${first}"`, `no file matches below ${folder}. Correct the glob, or remove it`)
  }
  return Promise.all(
    files.map(async (file) =>
      parseFile(graphql, relative(folder, file), (await readRegularFile(file)).toString('utf8')),
    ),
  )
}

function parseFile(graphql: Graphql, name: string, text: string): SdlDocument {
  try {
    return graphql.parse(new graphql.Source(text, name))
  } catch (error) {
    const [place] = error instanceof graphql.GraphQLError ? (error.locations ?? []) : []
    const where = place === undefined ? name : `${name}:${place.line}:${place.column}`
    throw Object.assign(GraphqlFileError(where, error instanceof Error ? error.message : String(error)), {
      cause: error,
    })
  }
}
