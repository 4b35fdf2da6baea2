import { peer } from '../../shared/environment/optional-package.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'
import { refusal, valueAt } from './names.ts'

/** The used part of an instance of Edge, for example one with globals and mounted folders. */
export interface EdgeEngine {
  /** Values that every template sees. */
  readonly globals: object
  /** Compiles templates to functions. */
  readonly asyncCompiler: unknown
  /** Its hooks, which see templates and output. */
  readonly processor: unknown
  /** Its tags by name, including the application's own. */
  readonly tags?: object
}

/** Two or three braces up to their end, or unclosed ones; a preceding `@` leaves them as they are. */
const braces = /@?(?:\{\{\{([\s\S]*?)\}\}\}|\{\{(?!\{)([\s\S]*?)\}\}|\{\{)/g

/** Where a line may begin with a tag. */
const lineTags = /^[ \t]*@{1,2}!?([a-z._]+)\s{0,2}\(/gim

type Parts = Awaited<ReturnType<typeof loadParts>>
type Run = (...given: Parameters<ReturnType<Parts['edge']['asyncCompiler']['compileRaw']>>) => string | Promise<string>

/**
 * Edge prefers a global of the runtime to a name in the data, and the runtimes differ: `name` is a global in
 * Deno. Such names are made variables of the template.
 */
function linesOfOwnNames(data: object): string[] {
  const shadowed = Object.keys(data).filter(
    (name) => /^[a-z_$][\w$]*$/i.test(name) && (globalThis as Record<string, unknown>)[name] !== undefined,
  )
  return shadowed.map((name) => `@let(${name} = state.${name})\n`)
}

async function loadParts(given: EdgeEngine | undefined) {
  const { Edge, Template } = await peer('edge.js', () => import('edge.js'), 'the EdgeAdapter')
  const edge = (given ?? Edge.create()) as ReturnType<typeof Edge.create>
  class PlainTemplate extends Template {
    override escape(value: unknown): string {
      return String(value)
    }
  }
  const make = (kind: 'html' | 'text') =>
    new (kind === 'text' ? PlainTemplate : Template)(edge.asyncCompiler, edge.globals, {}, edge.processor)
  return { edge, make }
}

/**
 * Templates of Edge; needs the package `edge.js`.
 *
 * `{{ name }}` is escaped, `{{{ name }}}` is not. Templates are programs: only an author of the application may write
 * one. In the subject and plain text of an email, braces may contain only names, as in `{{ order.number }}`, and no code runs.
 *
 * @param engine An instance with globals and folders. Default: a new one.
 * @example
 * const provider = { transporter: memoryTransport(), templateAdapter: new EdgeAdapter(), from: 'shop@example.org' } as const
 */
export class EdgeAdapter implements TemplateAdapter {
  readonly #compiled = new Compiled<Run>()
  readonly #parts: Memoized<Parts>

  constructor(engine?: EdgeEngine) {
    this.#parts = new Memoized(() => loadParts(engine))
  }

  async render(template: string, data: object, kind: 'html' | 'text'): Promise<string> {
    const { edge, make } = await this.#parts.get()
    const lines = linesOfOwnNames(data)
    const source = lines.join('') + template
    try {
      const run = this.#compiled.of(source, 'template', () => edge.asyncCompiler.compileRaw(source))
      const page = make(kind)
      return page.stacks.fillPlaceholders(await run(page, { ...edge.globals, ...data }, {}))
    } catch (error) {
      const { line } = error as { line?: unknown }
      throw typeof line === 'number' ? Object.assign(error as Error, { line: line - lines.length }) : error
    }
  }

  async renderNames(template: string, data: object): Promise<string> {
    const { edge } = await this.#parts.get()
    for (const [line, name] of template.matchAll(lineTags)) {
      if (Object.hasOwn(edge.tags ?? {}, name!)) throw refusal(line)
    }
    return template.replace(braces, (tag, raw: string | undefined, escaped: string | undefined) => {
      if (tag.startsWith('@')) return tag.slice(1)
      const inside = raw ?? escaped
      if (inside === undefined) throw refusal(tag)
      return inside.startsWith('--') ? '' : valueAt(data, tag, inside)
    })
  }
}
