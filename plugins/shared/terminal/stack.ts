import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { frameIn } from '../../../kernel/index.ts'
import { readRegularFileSync } from '../files/read-file.ts'
import { safely } from '../values/safely.ts'

/** A place in a file of the application. */
export interface Place {
  readonly file: string
  readonly line: number
  /** The column; 0 if it is not known. */
  readonly column: number
  /** The function, if it has a name. */
  readonly name: string | undefined
}

/** The largest source in bytes: a larger file was not written by a person. */
const maxSource = 1024 * 1024
const maxLine = 160

/**
 * The frames of a stack that are in files of the application, nearest first: not those of the runtime, of packages, or
 * of the framework, wherever that is. Stacks have the lines of the sources if the runtime reads source maps.
 */
export const placesOf = (frames: readonly string[]): Place[] => frames.flatMap((line) => placeIn(line) ?? [])

/** A file without such an ending, such as `.env`, is not a file of the application that throws, whatever a stack says. */
const source = /\.(?:[cm]?[jt]s|[jt]sx)$/

function placeIn(text: string): Place | undefined {
  const { name = '', file = '', line = 0, column = 0 } = frameIn(text) ?? {}
  if (!isAbsolute(file) || !source.test(file) || isOfPackage(file)) return undefined
  const isNamed = name !== '' && !name.includes('<anonymous>')
  return { file, line, column, name: isNamed ? name : undefined }
}

/** The folders of this framework: if it is linked to another folder, it is not below `node_modules`. */
let own: readonly string[] | undefined

function isOfPackage(file: string): boolean {
  if (file.includes(`${sep}node_modules${sep}`)) return true
  // Not when this module is loaded: Deno would ask every server for a permission that only a failure needs.
  own ??= ownFolders()
  return own.some((folder) => file.startsWith(folder))
}

function ownFolders(): string[] {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  // In addition to these, the repository has examples and tests, which are applications.
  return ['dist', 'kernel', 'plugins', 'cli'].map((name) => join(folder, name) + sep)
}

/** `src/boom.ts:7:21`, below the working directory, as terminals and editors understand it. */
export function placeText({ file, line, column }: Place): string {
  const short = relative(process.cwd(), file)
  return `${short.startsWith('..') ? file : short}:${line}${column === 0 ? '' : `:${column}`}`
}

/** The addresses by which editors open a place, by the names of their programs. */
const editors: { readonly [program: string]: string } = {
  code: 'vscode://file{file}:{line}:{column}',
  'code-insiders': 'vscode-insiders://file{file}:{line}:{column}',
  codium: 'vscodium://file{file}:{line}:{column}',
  cursor: 'cursor://file{file}:{line}:{column}',
  windsurf: 'windsurf://file{file}:{line}:{column}',
  zed: 'zed://file{file}:{line}:{column}',
  idea: 'idea://open?file={file}&line={line}&column={column}',
  webstorm: 'webstorm://open?file={file}&line={line}&column={column}',
  subl: 'subl://open?url=file://{file}&line={line}&column={column}',
}

/**
 * The address that opens a place in the editor: that of the variable `EDITOR`, which has the name of a program (`cursor --wait`) or an
 * address with `{file}`, `{line}` and `{column}`; of Visual Studio Code for any other.
 */
export function editorAddress({ file, line, column }: Place): string {
  // Deno throws where access is not allowed.
  const editor = safely(() => process.env.EDITOR) ?? ''
  const [program = ''] = basename(editor).split(' ')
  const template = editor.includes('{file}') ? editor : (editors[program] ?? editors.code!)
  // A path of Windows begins with the name of a drive.
  const path = encodeURI(file.replaceAll('\\', '/').replace(/^(?!\/)/, '/'))
  const values: { readonly [name: string]: string | number } = { file: path, line, column: column || 1 }
  return template.replace(/\{(file|line|column)\}/g, (_, name: string) => String(values[name]))
}

/** A line of `sourceFrame`: a line of the source, the line of the place, or the mark below it. */
export interface FrameLine {
  readonly kind: 'source' | 'place' | 'mark'
  readonly text: string
}

/** The lines around a place, with a mark below it; no lines if the file does not exist or has changed since. */
export function sourceFrame({ file, line, column }: Place): FrameLine[] {
  const lines = sourceLines(file)
  const text = lines?.[line - 1]
  if (lines === undefined || text === undefined || text.length > maxLine || column > text.length + 1) return []
  const first = Math.max(1, line - 2)
  const shown = lines.slice(first - 1, line + 1)
  if (shown.at(-1)?.trim() === '') shown.pop()
  const width = String(first + shown.length - 1).length
  const gutter = (mark: string, number: string | number) => `${mark} ${String(number).padStart(width)} │ `
  // Tabs stay tabs, so that the mark is below the mistake.
  const indent = text.slice(0, Math.max(0, column - 1)).replace(/[^\t]/g, ' ')
  return shown.flatMap((one, at): FrameLine[] => {
    const number = first + at
    const cut = one.length > maxLine ? `${one.slice(0, maxLine)}…` : one
    if (number !== line) return [{ kind: 'source', text: gutter(' ', number) + cut }]
    const place: FrameLine = { kind: 'place', text: gutter('>', number) + cut }
    return column === 0 ? [place] : [place, { kind: 'mark', text: `${gutter(' ', '')}${indent}^` }]
  })
}

/** The lines of a file of the application; `undefined` for a missing path or one that is not a source file: a device, a huge file. */
export function sourceLines(file: string): string[] | undefined {
  if (!source.test(file)) return undefined
  // In a build without its sources, for example.
  return safely(() => readRegularFileSync(file, maxSource).toString('utf8').split(/\r?\n/))
}
