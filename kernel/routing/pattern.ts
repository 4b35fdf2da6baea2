import { decodePath } from '../http/request/target.ts'
import { defineErrors } from '../support/errors.ts'

/** The methods a route can be registered for, in the order that `Allow` lists them. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'OPTIONS'] as const
/** The method of a route. Requests with other methods are answered with 405, or 404. */
export type Method = (typeof methods)[number]

export const { RoutePatternError } = defineErrors({
  RoutePatternError: (pattern: string, why: string, remedy: string) => `the path "${pattern}" ${why}. ${remedy}`,
})

/** One part of a path between two slashes. */
interface Segment {
  /** Whether it is a fixed word, a parameter, or the rest of the path. */
  readonly kind: 'static' | 'param' | 'wildcard'
  /** The decoded text of a static segment, the name of a parameter, `*`. */
  readonly text: string
  /** Whether a path may end before this segment. */
  readonly optional: boolean
}

/** Makes the error from the mistake in a pattern and its remedy. */
type Fail = (why: string, remedy: string) => Error

function parseSegment(raw: string, isLast: boolean, fail: Fail): Segment {
  if (raw === '*') {
    if (!isLast) throw fail('has a "*" before its end', 'A wildcard matches the rest of the path: put it last.')
    return { kind: 'wildcard', text: '*', optional: false }
  }
  if (raw.startsWith(':')) {
    const [, name, question] = /^:([A-Za-z_$][\w$]*)(\?)?$/.exec(raw) ?? []
    if (name === undefined)
      throw fail(
        `has the segment "${raw}", which is not one whole parameter`,
        'Write ":name" (letters, digits, _ and $), and check the rest of the value in the handler or by a schema.',
      )
    if (name === '__proto__') throw fail('names a parameter "__proto__"', 'Choose another name.')
    return { kind: 'param', text: name, optional: question !== undefined }
  }
  const [special] = /[*?#(){}[\]]/.exec(raw) ?? []
  if (special !== undefined)
    throw fail(
      `has a "${special}" in the segment "${raw}"`,
      'Write ":name" for a parameter, ":name?" for an optional one, and "*" as the last segment for the rest of the path. To match a bracket itself, encode it: %28 %29 %5B %5D %7B %7D.',
    )
  const text = raw.includes('%') ? decodePath(raw) : raw
  if (text === undefined) throw fail(`has the malformed escape "${raw}"`, 'Write "%25" for a percent sign.')
  // The router would take an asterisk for a wildcard.
  if (/%(2F|3F|23)|\*/.test(text)) {
    const why = `has an escaped "/", "?", "#" or "*" in the segment "${raw}"`
    throw fail(why, 'Make the segment a parameter, whose value is decoded.')
  }
  return { kind: 'static', text, optional: false }
}

/** One concrete form of a pattern: an optional parameter splits it into two. */
export interface Shape {
  /** The pattern in the router's own syntax. */
  readonly pattern: string
  /** Equal for two patterns exactly when they match the same paths. */
  readonly key: string
  /** The parts between the slashes, in order. */
  readonly segments: readonly Segment[]
}

function toShape(segments: readonly Segment[]): Shape {
  // find-my-way wants a literal colon doubled, and a percent sign as it is.
  const toRouterSyntax = (text: string) => text.replaceAll(':', '::').replaceAll('%25', '%')
  const write = (part: Segment) =>
    part.kind === 'static' ? toRouterSyntax(part.text) : part.kind === 'param' ? `:${part.text}` : '*'
  return {
    pattern: `/${segments.map(write).join('/')}`,
    key: `/${segments.map((part) => (part.kind === 'static' ? part.text : part.kind === 'param' ? ':' : '*')).join('/')}`,
    segments,
  }
}

/**
 * Reads a route path: static segments, `:name`, `:name?` anywhere, and `*` as the last segment.
 *
 * @throws RoutePatternError for any other form; regular expressions and several parameters in a segment are refused,
 * because a request could make them slow.
 */
export function parsePattern(pattern: string): Shape[] {
  if (typeof pattern !== 'string')
    throw RoutePatternError(String(pattern), 'is not a string', 'Begin with a path such as "/users/:id".')
  const fail: Fail = (why, remedy) => RoutePatternError(pattern, why, remedy)
  if (!pattern.startsWith('/')) throw fail('does not begin with "/"', `Write "/${pattern}".`)
  const trimmed = pattern.length > 1 && pattern.endsWith('/') ? pattern.slice(0, -1) : pattern
  const parts = trimmed === '/' ? [] : trimmed.slice(1).split('/')
  const names = new Set<string>()
  const segments = parts.map((raw, i) => {
    if (raw === '') throw fail('has an empty segment', 'Remove the doubled slash.')
    const segment = parseSegment(raw, i === parts.length - 1, fail)
    if (segment.kind !== 'static') {
      if (names.has(segment.text)) throw fail(`has the parameter "${segment.text}" twice`, 'Rename one.')
      names.add(segment.text)
    }
    return segment
  })
  const optional = segments.filter((segment) => segment.optional).length
  if (optional > 4) throw fail('has more than four optional parameters', 'Register each path as a route.')
  let forms: Segment[][] = [[]]
  for (const segment of segments) {
    forms = forms.flatMap((form) => (segment.optional ? [[...form, segment], form] : [[...form, segment]]))
  }
  const shapes = forms.map(toShape)
  // `/:a?/:b?` has the forms `/:a` and `/:b`, which match the same paths: the earlier one counts.
  return shapes.filter(({ key }, i) => shapes.findIndex((one) => one.key === key) === i)
}

/**
 * Reads a path without parameters and wildcards, in the form that requests are matched with.
 *
 * @throws RoutePatternError for any other form.
 * @example
 * fixedPath('/caf%C3%A9/') // '/café'
 */
export function fixedPath(pattern: string): string {
  const [shape] = parsePattern(pattern)
  if (shape!.segments.every(({ kind }) => kind === 'static')) return shape!.key
  throw RoutePatternError(pattern, 'has a parameter or a wildcard', 'Only a fixed path is possible here.')
}

/** Joins a prefix and a path, both beginning with "/", into one path. */
export function joinPaths(prefix: string, path: string): string {
  if (prefix === '' || prefix === '/') return path
  const base = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  return path === '/' ? base : base + path
}

type Segments<Path extends string> = Path extends `${infer Head}/${infer Tail}` ? Head | Segments<Tail> : Path

type ParamName<Segment> = Segment extends `:${string}?`
  ? never
  : Segment extends `:${infer Name}`
    ? Name
    : Segment extends '*'
      ? '*'
      : never
type OptionalParamName<Segment> = Segment extends `:${infer Name}?` ? Name : never

/**
 * The parameters that a path names: `{ id?: string }` for `'/posts/:id?'`, `{ '*': string }` for a path with `*`.
 *
 * For a path that is only known as `string`, an open record.
 */
export type PathParams<Path extends string> = string extends Path
  ? { readonly [name: string]: string | undefined }
  : ParamsOfSegments<Segments<Path>>

type ParamsOfSegments<All> = [OptionalParamName<All>] extends [never]
  ? { readonly [Name in ParamName<All>]: string }
  : Flat<{ readonly [Name in ParamName<All>]: string } & { readonly [Name in OptionalParamName<All>]?: string }>

/** One object type instead of an intersection, for display in editors. */
type Flat<T> = { [Name in keyof T]: T[Name] } & {}
