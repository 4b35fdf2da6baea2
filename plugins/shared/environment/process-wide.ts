/**
 * A value of the process, which every copy of this package sees: a development server, or a supervisor, sets it before it loads the
 * application, which may have another copy.
 */
export function processWide<Value>(name: string) {
  const mark = Symbol.for(`framework.${name}`)
  return {
    get: () => (globalThis as { readonly [mark: symbol]: Value | undefined })[mark],
    set: (value: Value) => void Object.assign(globalThis, { [mark]: value }),
  }
}
