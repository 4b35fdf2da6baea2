import { Lexer, Marked, type Token, type Tokens, walkTokens } from 'marked'
import { createCssVariablesTheme, createHighlighter } from 'shiki'
import { commandsOf, type Manager } from './commands.ts'
import type { Code, Types } from './types.ts'

/** A heading of a page, and the text below it without markup, for the search. */
export interface Part {
  readonly level: number
  readonly heading: string
  /** Empty for the text above the first heading. */
  readonly anchor: string
  text: string
}

/** What a page says, read from its Markdown. */
export interface Reading {
  readonly tokens: Token[]
  readonly parts: readonly Part[]
  /** The targets of links within the project; those of blocks that show a file begin with a slash. */
  readonly links: readonly string[]
}

/** Returns how a link of a page is written on the site. */
export type Link = (href: string) => string

const isOutside = (href: string) => /^[a-z]+:/i.test(href)

/** The file that a block of code shows: ```` ```ts file=docs/examples/hello.ts ````. */
const sourceOf = ({ lang = '' }: Tokens.Code) => /^\w+ file=(\S+)$/.exec(lang)?.[1]

/** A block of TypeScript in a page, unless it shows what does not compile. */
export function codeOf(token: Tokens.Code, page: string): Code | undefined {
  const source = sourceOf(token)
  return /^ts(?!\w)(?! skip:)/.test(token.lang ?? '')
    ? { code: token.text, file: source ?? page, showsFile: source !== undefined }
    : undefined
}

/** Returns the blocks of TypeScript in a page. */
export function codesOf(tokens: Token[], page: string): Code[] {
  const codes: Code[] = []
  walkTokens(tokens, (token) => {
    const code = token.type === 'code' ? codeOf(token as Tokens.Code, page) : undefined
    if (code !== undefined) codes.push(code)
  })
  return codes
}

const theme = createCssVariablesTheme({ name: 'site', variablePrefix: '--' })
const languages = ['ts', 'js', 'sh', 'json', 'yaml', 'html', 'css', 'graphql', 'nginx', 'ini', 'docker', 'diff', 'sql']
const highlighter = await createHighlighter({ themes: [theme], langs: languages })

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Writes code with a class for each kind of token: the pages' content security policy refuses inline styles. */
export function highlight(code: string, language: string, types: Types = new Map()): string {
  if (!languages.includes(language)) return escapeHtml(code)
  const lines = highlighter.codeToTokensBase(code, { lang: language as 'ts', theme })
  return lines
    .map((line) =>
      line
        .map(({ content, offset, color = '' }) => {
          const kind = /--token-([\w-]+)/.exec(color)?.[1]
          const html = withTypes(content, offset, types)
          return kind === undefined ? html : `<span class="t-${kind}">${html}</span>`
        })
        .join(''),
    )
    .join('\n')
}

/** Writes code, each of its names with its type, which the page's script shows beside the pointer. */
function withTypes(code: string, offset: number, types: Types): string {
  let html = ''
  let rest = 0
  for (const { index } of code.matchAll(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu)) {
    const known = types.get(offset + index)
    if (known === undefined || index < rest) continue
    const end = index + known.length
    html += `${escapeHtml(code.slice(rest, index))}<span data-type="${escapeHtml(known.type)}">${escapeHtml(code.slice(index, end))}</span>`
    rest = end
  }
  return html + escapeHtml(code.slice(rest))
}

/** Writes a block of code; the page's script adds the copy button, which could do nothing without a script. */
export function codeBlock(code: string, language: string, caption = '', types?: Types): string {
  const head = caption === '' ? '' : `<figcaption>${caption}</figcaption>`
  return `<figure class="code">${head}<pre><code>${highlight(code, language, types)}</code></pre></figure>`
}

/** Writes the same commands for each package manager; the page's script adds the tabs, and without it those of npm are shown. */
function commandBlock(commands: Readonly<Record<Manager, string>>): string {
  const blocks = Object.entries(commands).map(
    ([manager, code]) =>
      `<pre data-manager="${manager}"${manager === 'npm' ? '' : ' hidden'}><code>${highlight(code, 'sh')}</code></pre>`,
  )
  return `<figure class="code commands">${blocks.join('')}</figure>`
}

/** Returns the text of tokens as it is read, without markup. */
function plain(tokens: readonly Token[]): string {
  return tokens.map(plainOf).join('')
}

function plainOf(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map((cell) => plain(cell.tokens)).join(' ')).join('\n')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => plain(item.tokens)).join('\n')
  if (token.type === 'br' || token.type === 'space') return '\n'
  if ('tokens' in token && token.tokens !== undefined) return `${plain(token.tokens)}${isBlock(token) ? '\n' : ''}`
  return 'text' in token ? String(token.text) : ''
}

const isBlock = ({ type }: Token) => ['paragraph', 'blockquote', 'heading'].includes(type)

/** Reads a page: its tokens, and its parts with the anchors that GitHub gives to headings. */
export function readMarkdown(text: string): Reading {
  const tokens = new Lexer({ gfm: true }).lex(text)
  const taken = new Set<string>()
  const parts: Part[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = plain(token.tokens ?? []).trim()
      const slug = heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-')
      let anchor = slug
      for (let n = 1; taken.has(anchor); n++) anchor = `${slug}-${n}`
      taken.add(anchor)
      Object.assign(token, { anchor })
      parts.push({ level: (token as Tokens.Heading).depth, heading, anchor, text: '' })
    } else {
      if (parts.length === 0) parts.push({ level: 1, heading: '', anchor: '', text: '' })
      parts.at(-1)!.text += `${plainOf(token)}\n`
    }
  }
  const links: string[] = []
  walkTokens(tokens, (token) => {
    if (token.type === 'link' && !isOutside(token.href)) links.push(token.href)
    const source = token.type === 'code' ? sourceOf(token as Tokens.Code) : undefined
    if (source !== undefined) links.push(`/${source}`)
  })
  return { tokens, parts, links }
}

/** Returns the first paragraph that says something, as one line for search engines and lists. */
export function describe(tokens: readonly Token[], limit = 180): string {
  const text = tokens
    .filter(({ type }) => type === 'paragraph' || type === 'list')
    .map((token) => plainOf(token).replace(/\s+/g, ' ').trim())
    .find((one) => one.length >= 20)
  if (text === undefined) return ''
  // Words that introduce the block or list below say nothing without it.
  if (text.length <= limit) return text.replace(/(?<=[.!?]) [^.!?]*:$/, '').replace(/:$/, '.')
  const sentence = /^.{40,}?[.!?](?= )/.exec(text)?.[0]
  return sentence !== undefined && sentence.length <= limit
    ? sentence
    : `${text.slice(0, limit).replace(/\W+\S*$/, '')} …`
}

/** Writes the tokens of a page as HTML. `drawing` returns the HTML of an image of ours, `typesOf` the types of a block of code. */
export function renderMarkdown(
  tokens: Token[],
  link: Link,
  drawing: (href: string, alt: string) => string,
  typesOf: (token: Tokens.Code) => Types | undefined,
  isColoured: boolean,
): string {
  const marked = new Marked({
    renderer: {
      heading(token) {
        const { anchor } = token as Tokens.Heading & { anchor?: string }
        const inner = this.parser.parseInline(token.tokens)
        if (anchor === undefined) return `<h${token.depth}>${inner}</h${token.depth}>\n`
        const self = `<a class="anchor" href="#${anchor}" aria-label="Link to this part"></a>`
        return `<h${token.depth} id="${anchor}">${inner}${token.depth > 1 ? self : ''}</h${token.depth}>\n`
      },
      link({ href, tokens }) {
        const attributes = isOutside(href) ? `href="${escapeHtml(href)}" rel="noreferrer"` : `href="${link(href)}"`
        return `<a ${attributes}>${this.parser.parseInline(tokens)}</a>`
      },
      // A long name may be broken across lines where one of its words begins.
      codespan: ({ text }) =>
        `<code>${escapeHtml(text).replace(/\S{20,}/g, (name) => name.replace(/(?<=[a-z\d]{3})(?=[A-Z]\w{4})|(?<=\w[./_])(?=\w{4})/g, '<wbr>'))}</code>`,
      image: ({ href, text }) => drawing(href, text),
      code(token) {
        const source = sourceOf(token)
        const caption = source === undefined ? '' : `<a href="${link(`/${source}`)}">${escapeHtml(source)}</a>`
        const commands = token.lang === 'sh' ? commandsOf(token.text) : undefined
        if (commands !== undefined) return commandBlock(commands)
        return codeBlock(token.text, (isColoured && token.lang?.split(/\s/)[0]) || '', caption, typesOf(token))
      },
      // A wide table scrolls on its own, so that the page does not.
      table(token) {
        const names = token.header.map(({ tokens }) => escapeHtml(plain(tokens)))
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row
            .map(({ tokens, align }, i) => {
              const side = align === null ? '' : ` class="${align}"`
              const column = tag === 'td' ? ` data-column="${names[i]}"` : ''
              const inner = this.parser.parseInline(tokens)
              // A header without words would be announced for each of its cells.
              const name = inner === '' ? 'td' : tag
              return `<${name}${side}${column}>${inner}</${name}>`
            })
            .join('')
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        const isProse = names.length > 2 && token.align.every((side) => side === null)
        return `<div class="table${isProse ? ' prose' : ''}"><table><thead><tr>${cells(token.header, 'th')}</tr></thead>\n<tbody>${body}</tbody></table></div>\n`
      },
      html({ text }) {
        throw new Error(`HTML in a page, which the site does not take: ${text.trim()}`)
      },
    },
  })
  return marked.parser(tokens)
}
