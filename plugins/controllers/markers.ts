/** Internal route options through which decorators request validation and serialisation of a route from the plugin. */
export const checks = Symbol('@validate')
export const serialized = Symbol('@serialize')
