/** One piece of code in a text, and its place. */
export interface Block {
  /** Relative to the project's folder. */
  readonly file: string
  /** The line of its first line of code, from 1. */
  readonly line: number
  readonly code: string
  /** The file whose lines the block shows: ```` ```ts file=docs/examples/hello.ts ````. */
  readonly source?: string
  /** Why it is not compiled: ```` ```ts skip: shows a mistake ````. */
  readonly skip?: string
  /** Why it is compiled and not run: ```` ```ts no-run: needs a certificate ````. */
  readonly noRun?: string
}

const fence = /^(\s*)```(\w*)[ \t]*(.*)$/

/** The ```ts blocks of a Markdown text. */
export function markdownBlocks(file: string, text: string): Block[] {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const [, indent, language, info] = fence.exec(lines[i]!) ?? []
    if (indent === undefined) continue
    const start = i + 1
    do i++
    while (i < lines.length && lines[i]!.trim() !== '```')
    if (i === lines.length) throw new Error(`${file}:${start}: the block is not closed`)
    if (language !== 'ts') continue
    const code = lines
      .slice(start, i)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n')
    blocks.push({ file, line: start + 1, code, ...readInfo(info ?? '', `${file}:${start}`) })
  }
  return blocks
}

function readInfo(info: string, place: string): Pick<Block, 'source' | 'skip' | 'noRun'> {
  if (info === '') return {}
  const source = /^file=(\S+)$/.exec(info)?.[1]
  if (source !== undefined) return { source }
  const skip = /^skip: (.+)$/.exec(info)?.[1]
  if (skip !== undefined) return { skip }
  const noRun = /^no-run: (.+)$/.exec(info)?.[1]
  if (noRun !== undefined) return { noRun }
  throw new Error(`${place}: "${info}" is neither file=<path>, "skip: <reason>" nor "no-run: <reason>"`)
}

/** The `@example` blocks of the docstrings of a source file. */
export function docstringBlocks(file: string, text: string): Block[] {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    if (!/^\s*\* @example\s*$/.test(lines[i]!)) continue
    const start = i + 1
    const code: string[] = []
    for (let j = start; j < lines.length && !/^\s*\*\/|^\s*\* @\w/.test(lines[j]!); j++) {
      code.push(lines[j]!.replace(/^\s*\* ?/, ''))
    }
    blocks.push({ file, line: start + 1, code: code.join('\n') })
  }
  return blocks
}

/** The targets of the links of a Markdown text, each with its line; links inside code do not count. */
export function markdownLinks(text: string): { line: number; target: string }[] {
  const links: { line: number; target: string }[] = []
  let inBlock = false
  text.split('\n').forEach((line, index) => {
    if (fence.test(line)) inBlock = !inBlock
    if (inBlock) return
    for (const [, target] of line.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
      links.push({ line: index + 1, target: target! })
    }
  })
  return links
}

/** The anchors that a Markdown text offers, as GitHub makes them from headings. */
export function markdownAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  let inBlock = false
  for (const line of text.split('\n')) {
    if (fence.test(line)) inBlock = !inBlock
    const heading = inBlock ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1]
    if (heading === undefined) continue
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    let free = slug
    for (let n = 1; anchors.has(free); n++) free = `${slug}-${n}`
    anchors.add(free)
  }
  return anchors
}
