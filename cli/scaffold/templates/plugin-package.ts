import { manifest, packageName, programName } from '../../package.ts'
import type { ScaffoldFile } from '../files.ts'
import { indexSource, type PluginParts, pluginSource, serviceSource, testSource } from './plugin.ts'

/** A plugin as a package that can be published, in a folder of its own. `installed` is its development dependency on the framework. */
export function pluginPackage(folder: string, parts: PluginParts, installed?: string): ScaffoldFile[] {
  const { kebab } = parts
  const name = `${programName}-${kebab}`
  const files: Readonly<Record<string, string>> = {
    'package.json': json(packageJson(name, kebab, installed)),
    'tsconfig.json': json(tsconfig),
    'tsconfig.build.json': json(buildConfig),
    '.gitignore': 'node_modules/\ndist/\n*.tgz\n',
    'README.md': readme(name, parts),
    LICENSE: license(name),
    'src/index.ts': indexSource(parts),
    'src/plugin.ts': pluginSource(parts),
    'src/service.ts': serviceSource(parts),
    [`test/${kebab}.test.ts`]: testSource('node:test', parts, '../src/index.ts'),
    'test/types.test-d.ts': typeTest(parts),
  }
  return Object.entries(files).map(([path, text]) => ({ path: `${folder}/${path}`, text }))
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`

function packageJson(name: string, kebab: string, installed: string | undefined): object {
  const { version, engines, devDependencies } = manifest()
  const tools = ['@types/node', 'tsx', 'typescript'].map((tool) => [tool, devDependencies[tool] ?? '*'])
  return {
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
}

const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    erasableSyntaxOnly: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['src', 'test'],
}

const buildConfig = {
  extends: './tsconfig.json',
  compilerOptions: { noEmit: false, declaration: true, outDir: 'dist', rootDir: 'src' },
  include: ['src'],
}

const readme = (name: string, { name: factory, key }: PluginParts) => `# ${name}

Keeps the last requests of a server.

\`\`\`sh
npm install ${name}
\`\`\`

\`\`\`ts
import { Server } from '${packageName}'
import { ${factory} } from '${name}'

const server = new Server({ plugins: { ${key}: ${factory}({ keep: 10 }) } })
await server.listen()
console.log(server.services.${key}.entries)
\`\`\`

| Option | Default | Meaning |
| --- | --- | --- |
| \`keep\` | \`100\` | how many requests are kept |
`

const license = (name: string) => `MIT License

Copyright (c) the authors of ${name}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

const typeTest = ({ name, key, pascal }: PluginParts) => `// Compiled by \`npm run types\` and never run.
import { Server } from '${packageName}'
import { type ${pascal}Service, ${name} } from '../src/index.ts'

const server = new Server({ plugins: { ${key}: ${name}({ keep: 10 }) } })
export const inferred: ${pascal}Service = server.services.${key}
export const merged: ${pascal}Service = server.services.get('${key}')

// @ts-expect-error: it is a number
${name}({ keep: '10' })
// @ts-expect-error: there is no such option
${name}({ kept: 10 })
`
