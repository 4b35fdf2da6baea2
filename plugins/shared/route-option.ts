import { type Context, OptionError, RouteValue } from '../../kernel/index.ts'

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

/** The settings of every route that has the option of that name; `false` where the route wants nothing of the plugin. */
export function settingsByRoute<Options extends object, Settings>(
  ctx: Context,
  name: string,
  plugin: Options,
  settingsOf: (options: Options) => Settings,
): RouteValue<Settings | false> {
  const settings = new RouteValue<Settings | false>()
  ctx.onRoute((route) => {
    const own = (route.options as Readonly<Record<string, unknown>>)[name]
    if (own === undefined) return
    settings.set(route, own === false ? false : settingsOf(withRouteOption(name, plugin, own)))
  })
  return settings
}
