import type { ScaffoldFile } from '../files.ts'
import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, sourceFrom } from '../source.ts'

/** The names in the files of one plugin: `name` is the factory, `key` its service, and the plugin in the object form. */
export const pluginValues = ({ kebab, camel, pascal }: Names) => ({
  kebab,
  name: identifier(camel, 'Plugin'),
  key: camel,
  pascal,
})

export type PluginValues = ReturnType<typeof pluginValues>

/** A plugin of the application: a folder with its public names, its glue, its service and a test. */
export function plugin(place: Place, names: Names): Scaffold {
  const values = pluginValues(names)
  const { kebab, name, key } = values
  return {
    files: [
      ...pluginModules(place.folder, values),
      pluginTest(inFolder(place, `${kebab}.test.ts`), { ...values, testModule: place.testModule, index: './index.ts' }),
    ],
    next: [
      `In ${place.server}:`,
      `  import { ${name} } from '${importPath(place, inFolder(place, 'index.ts'))}'`,
      `  new Server({ plugins: { ${key}: ${name}() } }), or new Server({ plugins: [${name}()] })`,
    ],
  }
}

export const pluginModules = (folder: string, values: PluginValues): ScaffoldFile[] =>
  ['index.ts', 'plugin.ts', 'service.ts'].map((file) => ({
    path: inFolder({ folder }, file),
    text: sourceFrom(`plugin/${file}`, values),
  }))

export const pluginTest = (
  path: string,
  values: PluginValues & { readonly testModule: string; readonly index: string },
): ScaffoldFile => ({ path, text: sourceFrom('plugin/plugin.test.ts', values) })
