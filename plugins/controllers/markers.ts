/** Internal route options: the requests of decorators to the plugin for a route. */
export const checks = Symbol('@validate')
export const serialized = Symbol('@serialize')
