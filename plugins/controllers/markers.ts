/** Internal route options: what decorators ask of the plugin for a route. */
export const checks = Symbol('@validate')
export const serialized = Symbol('@serialize')
