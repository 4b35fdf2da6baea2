import { OptionError } from '../../kernel/index.ts'

/**
 * The options of a plugin with those of one route over them; what a route leaves out is as the plugin has it.
 *
 * @throws OptionError when what the route has is no object.
 */
export function withRouteOption<Options extends object>(name: string, plugin: Options, route: unknown): Options {
  if (typeof route !== 'object' || route === null || Array.isArray(route)) {
    throw OptionError(name, route, 'false or an object')
  }
  return { ...plugin, ...Object.fromEntries(Object.entries(route).filter(([, value]) => value !== undefined)) }
}
