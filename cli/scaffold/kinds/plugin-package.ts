import { manifest, packageName, programName } from '../../package.ts'
import type { ScaffoldFile } from '../files.ts'
import { fromTemplate } from '../template.ts'
import { type PluginValues, pluginModules, pluginTest } from './plugin.ts'

/** A plugin as a package that can be published, in a folder of its own. `installed` is its development dependency on the framework. */
export function pluginPackage(folder: string, plugin: PluginValues, installed?: string): ScaffoldFile[] {
  const { kebab } = plugin
  const values = { ...plugin, package: `${programName}-${kebab}`, testModule: 'node:test', index: '../src/index.ts' }
  const file = (path: string) => ({ path: `${folder}/${path}`, text: fromTemplate(`plugin-package/${path}`, values) })
  return [
    { path: `${folder}/package.json`, text: packageJson(values.package, kebab, installed) },
    ...['tsconfig.json', 'tsconfig.build.json', '.gitignore', 'README.md', 'LICENSE'].map(file),
    ...pluginModules(`${folder}/src`, plugin),
    pluginTest(`${folder}/test/${kebab}.test.ts`, values),
    file('test/types.test-d.ts'),
  ]
}

function packageJson(name: string, kebab: string, installed: string | undefined): string {
  const { version, engines, devDependencies } = manifest()
  const tools = ['@types/node', 'tsx', 'typescript'].map((tool) => [tool, devDependencies[tool] ?? '*'])
  const own = {
    name,
    version: '0.1.0',
    description: `The plugin ${kebab} of ${packageName}`,
    keywords: [programName, `${programName}-plugin`, kebab],
    license: 'MIT',
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist'],
    sideEffects: false,
    engines: { node: engines.node },
    scripts: {
      build: 'tsc -p tsconfig.build.json',
      test: 'node --import tsx --test test/*.test.ts',
      types: 'tsc',
      prepublishOnly: 'npm run types && npm test && npm run build',
    },
    peerDependencies: { [packageName]: `^${version}` },
    devDependencies: Object.fromEntries(
      [[packageName, installed ?? `^${version}`], ...tools].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ),
  }
  return `${JSON.stringify(own, null, 2)}\n`
}
