import type { RouteRecord } from '../../../kernel/index.ts'
import { freeName } from '../schema/names.ts'
import { madeIn } from '../values/memoize.ts'

type Shape = RouteRecord['shapes'][number]

/** A parameter of a path: its name in the route and its name in the description. */
export interface PathParameter {
  readonly name: string
  readonly described: string
}

/** One path of the document that a route responds to. */
export interface DescribedPath {
  readonly template: string
  readonly parameters: readonly PathParameter[]
  /** The optional parameters that this form of the path lacks. */
  readonly without: readonly string[]
}

/**
 * The templates of all paths. Two that differ only in the names of their parameters are one path in OpenAPI: both get the
 * names of the first.
 */
export function templates(): (record: RouteRecord) => DescribedPath[] {
  const described = new Map<string, readonly string[]>()
  // An optional parameter splits a route into two paths.
  return ({ shapes }) => {
    const all = new Set(shapes.flatMap(namesOf))
    return shapes.map((shape) => {
      const names = namesOf(shape)
      const key = shape.segments.map(({ kind, text }) => (kind === 'static' ? encoded(text) : '{}')).join('/')
      const shown = madeIn(described, key, () =>
        names.map((name) => (name === '*' ? freeName('wildcard', (one) => names.includes(one)) : name)),
      )
      let next = 0
      return {
        template: `/${key.replaceAll('{}', () => `{${shown[next++]}}`)}`,
        parameters: names.map((name, i) => ({ name, described: shown[i]! })),
        without: [...all].filter((name) => !names.includes(name)),
      }
    })
  }
}

const namesOf = (shape: Shape) => shape.segments.filter(({ kind }) => kind !== 'static').map(({ text }) => text)

/** A segment as a client sends it: above all without braces, which would be read as a parameter. */
function encoded(text: string): string {
  // Half a surrogate pair has no encoding.
  const decoded = text.replaceAll('%25', '%').replace(/\p{Cs}/gu, '\uFFFD')
  return encodeURIComponent(decoded).replace(/%(3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent)
}
