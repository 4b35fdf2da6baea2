import { join } from 'node:path'
import type { Node } from 'typescript'
import { open, ts } from './reference/program.mjs'
import { root } from './template.ts'

/** What an editor shows for the names of a file, by the offset of each name. */
export type Types = ReadonlyMap<number, { readonly length: number; readonly type: string }>

/** A longer type says nothing at a glance. */
const limit = 240

/** Reads the types of a file, by its path from the project's folder, as an editor does. */
export function typesOf(file: string): Types {
  const path = join(root, file)
  const service = open(path)
  const found = new Map<number, { length: number; type: string }>()
  const visit = (node: Node) => {
    if (ts.isIdentifier(node)) {
      const start = node.getStart()
      const { displayParts } = service.getQuickInfoAtPosition(path, start) ?? {}
      const type = ts.displayPartsToString(displayParts).replaceAll(/\s+/g, ' ')
      if (type !== '' && type.length <= limit) found.set(start, { length: node.getWidth(), type })
    }
    ts.forEachChild(node, visit)
  }
  const source = service.getProgram()?.getSourceFile(path)
  if (source === undefined) throw new Error(`${file} has no types`)
  visit(source)
  return found
}
