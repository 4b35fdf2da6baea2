const messages = {
  FRAMEWORK_DEP0001:
    'controllers (@controller, @get, @post and the others) are deprecated; register routes on the router: router.get(path, options, handler)',
  FRAMEWORK_DEP0002:
    '@validate is deprecated; name the schemas in the options of the route: { body, query, headers, params, all }',
} as const

const told = new Set<string>()

/** Tells once in a process that a form is deprecated, and what takes its place. */
export function deprecate(code: keyof typeof messages): void {
  if (told.has(code)) return
  told.add(code)
  process.emitWarning(messages[code], { type: 'DeprecationWarning', code })
}
