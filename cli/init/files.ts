import { pinnedWorkspace } from '../project/packages.ts'
import { type PackageManager, runtimeOf } from '../project/project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { containerFiles } from './container.ts'
import { documents } from './documents.ts'
import { agentsFile, editorFiles } from './extras.ts'
import { denoJson, packageJson, pinsOf, tsconfigJson } from './manifest.ts'
import { partSources } from './parts.ts'
import type { InitSettings } from './settings.ts'
import { sources } from './sources.ts'

/** Every file of a new project. `isPart` says that it is in another project, which has its own settings for the package manager. */
export function projectFiles(settings: InitSettings, isPart: boolean): ScaffoldFile[] {
  return [
    { path: 'package.json', text: packageJson(settings), existing: 'update' },
    ...(runtimeOf(settings.packageManager) === 'deno'
      ? [setting('deno.json', denoJson(settings))]
      : [setting('tsconfig.json', tsconfigJson(settings))]),
    ...(runtimeOf(settings.packageManager) === 'node' ? [setting('vitest.config.ts', vitestConfig)] : []),
    ...(settings.packageManager === 'bun' ? [setting('bunfig.toml', bunfig)] : []),
    ...(isPart ? [] : (ofManager[settings.packageManager]?.(settings) ?? [])),
    ...sources(settings),
    ...partSources(settings),
    ...documents(settings),
    ...extraFiles(settings),
  ]
}

/** The files next to the code. */
export function extraFiles(settings: InitSettings): ScaffoldFile[] {
  return [
    ...(settings.extras.has('container') ? containerFiles(settings) : []),
    ...(settings.extras.has('agents') ? [agentsFile(settings)] : []),
    ...(settings.extras.has('editor') ? editorFiles(settings) : []),
  ]
}

/** A settings file; that of an existing project stays, since there may be reasons for it. */
function setting(path: string, text: string): ScaffoldFile {
  return { path, text, existing: 'keep' }
}

/** Without a file in the project, Vitest uses the settings of a parent folder, and runs all tests below that. */
const vitestConfig = `import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['src/**/*.test.ts'] } })
`

const bunfig = `# The framework reads .env and its siblings, by the same rules as on Node.js. Bun would replace $NAME in their values.
env = false
`

const pnpmWorkspace = `# esbuild has a script that only makes it start faster. pnpm install fails until someone has decided about it.
allowBuilds:
  esbuild: false
`

/** The settings of package managers that the project needs. */
const ofManager: Readonly<Partial<Record<PackageManager, (settings: InitSettings) => readonly ScaffoldFile[]>>> = {
  pnpm: (settings) => [setting('pnpm-workspace.yaml', pinnedWorkspace(pnpmWorkspace, pinsOf(settings)))],
  yarn: () => [
    setting(
      '.yarnrc.yml',
      `# Tools look for packages in a folder. Yarn 1 does not read this and has one anyway.
nodeLinker: node-modules
`,
    ),
  ],
}
