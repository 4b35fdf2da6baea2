import { join } from 'node:path'
import type { LanguageService, Node, SourceFile } from 'typescript'
import { preludeOf } from '../../test/support/docs/prelude.ts'
import { open, ts } from './reference/program.mjs'
import { root } from './template.ts'

/** What an editor shows for the names of a block of code, by the offset of each name. */
export type Types = ReadonlyMap<number, { readonly length: number; readonly type: string }>

/** A block of code of a page. */
export interface Code {
  readonly code: string
  /** The page, or the file whose lines the block shows. */
  readonly file: string
  readonly showsFile: boolean
}

/** A longer type says nothing at a glance. */
const limit = 240

/**
 * Reads the types of blocks of code as an editor does, and returns those of one. All are read in one program: a file that comes
 * later is checked with everything again. A block that shows lines of a file has the types of that file; another one is a module of
 * its own beside the examples, with the names that the compiler adds to it in the tests.
 */
export function readTypes(blocks: readonly Code[]): (block: Pick<Code, 'code' | 'file'>) => Types | undefined {
  const modules = new Map<string, { path: string; offset: number }>()
  const texts = new Map<string, string>()
  for (const { code, file, showsFile } of blocks) {
    const shown = join(root, file)
    if (showsFile) {
      const offset = ts.sys.readFile(shown)!.indexOf(code)
      if (offset >= 0) modules.set(keyOf({ file, code }), { path: shown, offset })
      continue
    }
    const path = join(root, `docs/examples/block-${texts.size}.ts`)
    const prelude = `${preludeOf({ code, file })}\n`
    texts.set(path, `${prelude}${code}\nexport {}\n`)
    modules.set(keyOf({ file, code }), { path, offset: prelude.length })
  }
  const paths = [...new Set([...modules.values()].map(({ path }) => path))]
  const service = open(paths, texts)
  return (block) => {
    const { path, offset } = modules.get(keyOf(block)) ?? {}
    return path === undefined || offset === undefined ? undefined : typesOf(service, path, offset, block.code.length)
  }
}

const keyOf = ({ file, code }: Pick<Code, 'code' | 'file'>) => `${file}\n${code}`

function typesOf(service: LanguageService, path: string, offset: number, length: number): Types {
  const found = new Map<number, { length: number; type: string }>()
  const visit = (node: Node) => {
    if (node.end <= offset || node.pos >= offset + length) return
    if (ts.isIdentifier(node) && node.getStart() >= offset) {
      const { displayParts } = service.getQuickInfoAtPosition(path, node.getStart()) ?? {}
      // The second line of an imported name says again that it is one.
      const type = ts
        .displayPartsToString(displayParts)
        .replace(/\nimport .*$/, '')
        .replaceAll(/\s+/g, ' ')
      // A package that is not installed here has no types.
      if (type !== '' && type.length <= limit && !/\bany$/.test(type))
        found.set(node.getStart() - offset, { length: node.getWidth(), type })
    }
    ts.forEachChild(node, visit)
  }
  // What is checked whole is looked up from then on, and not resolved for each name.
  service.getSemanticDiagnostics(path)
  visit(service.getProgram()!.getSourceFile(path) as SourceFile)
  return found
}
