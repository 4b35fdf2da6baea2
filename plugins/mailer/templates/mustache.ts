import { peer } from '../../shared/environment/optional-package.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'

type Tokens = string[][]
type Engine = Awaited<ReturnType<typeof loadEngine>>

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

async function loadEngine() {
  const { default: mustache } = await peer('mustache', () => import('mustache'), 'the MustacheAdapter')
  class OwnContext extends mustache.Context {
    override push(view: unknown): OwnContext {
      return new OwnContext(view, this)
    }
    override lookup(name: string): unknown {
      if (name === '.') return this.view
      for (let context: OwnContext['parent'] = this; context !== undefined; context = context.parent) {
        const { found, value } = lookUp(context.view, name)
        if (found) return typeof value === 'function' ? value.call(this.view) : value
      }
      return undefined
    }
  }
  // Mustache's own cache is unbounded.
  const writer = Object.assign(new mustache.Writer(), { templateCache: undefined })
  return { writer, contextOf: (view: object) => new OwnContext(view) }
}

/** Parses a template; reports the line of a mistake, of which Mustache reports only the index of a character. */
function parsed(writer: Engine['writer'], template: string): Tokens {
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
