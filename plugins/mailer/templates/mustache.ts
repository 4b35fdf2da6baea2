import { peer } from '../../shared/environment/optional-package.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'

type Tokens = readonly unknown[]

/** The used part of the package; its types have no classes to extend. */
interface Mustache {
  readonly Context: new (view: unknown, parent?: object) => { readonly view: unknown; readonly parent?: unknown }
  readonly Writer: new () => Writer
}
interface Writer {
  templateCache: undefined
  parse(template: string): Tokens
  renderTokens(tokens: Tokens, context: object, partials: undefined, template: string, config: object): string
}
interface Engine {
  readonly writer: Writer
  contextOf(view: unknown): object
}

/** Looks up an own member of the data: members of a prototype would be called, or reveal details of the program. */
function ownMember(view: unknown, name: string): unknown {
  if (typeof view !== 'object' || view === null || !Object.hasOwn(view, name)) return undefined
  return (view as Record<string, unknown>)[name]
}

function lookUp(view: unknown, name: string): { found: boolean; value: unknown } {
  const names = name.split('.')
  const last = names.pop()!
  const holder = names.reduce(ownMember, view)
  const found = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, last)
  return { found, value: found ? ownMember(holder, last) : undefined }
}

async function loadEngine(): Promise<Engine> {
  const module = await peer('mustache', () => import('mustache'), 'the MustacheAdapter')
  const mustache = module.default as unknown as Mustache
  class OwnContext extends mustache.Context {
    push(view: unknown): OwnContext {
      return new OwnContext(view, this)
    }
    lookup(name: string): unknown {
      if (name === '.') return this.view
      let context: { view: unknown; parent?: unknown } | undefined = this
      for (; context !== undefined; context = context.parent as typeof context) {
        const { found, value } = lookUp(context.view, name)
        if (found) return typeof value === 'function' ? value.call(this.view) : value
      }
      return undefined
    }
  }
  const writer = new mustache.Writer()
  // Mustache's own cache is unbounded.
  writer.templateCache = undefined
  return { writer, contextOf: (view) => new OwnContext(view) }
}

/** Parses a template; reports the line of a mistake, of which Mustache reports only the index of a character. */
function parsed(writer: Writer, template: string): Tokens {
  try {
    return writer.parse(template)
  } catch (error) {
    const [, offset] = / at (\d+)$/.exec((error as Error).message) ?? []
    if (offset === undefined) throw error
    throw Object.assign(error as Error, { line: template.slice(0, Number(offset)).split('\n').length })
  }
}

/**
 * Templates of Mustache, without logic; needs the package `mustache`.
 *
 * `{{name}}` is escaped, `{{{name}}}` is not. Only own members of the data are visible.
 *
 * @example
 * const provider = { transporter: memoryTransport(), templateAdapter: new MustacheAdapter(), from: 'shop@example.org' } as const
 */
export class MustacheAdapter implements TemplateAdapter {
  readonly #compiled = new Compiled<Tokens>()
  readonly #engine = new Memoized(loadEngine)

  async render(template: string, data: object, kind: 'html' | 'text'): Promise<string> {
    const { writer, contextOf } = await this.#engine.get()
    const tokens = this.#compiled.of(template, 'template', () => parsed(writer, template))
    const config = kind === 'text' ? { escape: (value: unknown) => String(value) } : {}
    return writer.renderTokens(tokens, contextOf(data), undefined, template, config)
  }
}
