import { nearest, type OptionPlace, quoted, type Request } from '../../kernel/index.ts'

const parameter = /:([A-Za-z_$][\w$]*)/g

const parametersOf = (path: string) => new Set([...path.matchAll(parameter)].map(([, name]) => name!))

/** Reports a tag with a parameter that the path does not have: all responses would share that one tag. */
export function checkTags(tags: readonly string[], path: string, place: OptionPlace): void {
  const parameters = [...parametersOf(path)]
  for (const [i, tag] of tags.entries()) {
    // After a letter or a digit a colon may belong to the tag itself: `list:all`.
    const missing = [...tag.matchAll(/(?<!\w):([A-Za-z_$][\w$]*)/g)].find(([, name]) => !parameters.includes(name!))
    if (missing === undefined) continue
    const near = nearest(missing[1]!, parameters)
    const known = parameters.length === 0 ? 'which has no parameters' : parameters.map((name) => `:${name}`).join(', ')
    place.in(i).wrong(quoted(tag), `parameters of the path ${path}, ${near === undefined ? known : `such as :${near}`}`)
  }
}

/** Fills the placeholders of a route's tags; `:name` is a placeholder only if the route has a parameter of that name. */
export function tagMaker(tags: readonly string[], path: string): (req: Request) => readonly string[] {
  const parameters = parametersOf(path)
  const fill = (tag: string, req: Request) =>
    tag.replace(parameter, (text, name: string) => (parameters.has(name) ? String(req.params[name] ?? '') : text))
  const varies = tags.some((tag) => [...tag.matchAll(parameter)].some(([, name]) => parameters.has(name!)))
  return varies ? (req) => tags.map((tag) => fill(tag, req)) : () => tags
}
