/** Marks factories and registrations; `Symbol.for`, so that a plugin built against another copy of the package is still one. */
export const pluginMark = Symbol.for('framework.plugin')

/** The number of the contract that a factory or a registration was made for; `undefined` for anything else. */
export function contractOf(value: unknown): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<symbol, unknown>)[pluginMark]
    : undefined
}
