import { runtimeOf } from '../project.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { documents } from './documents.ts'
import { denoJson, packageJson, tsconfigJson } from './manifest.ts'
import { partSources } from './parts.ts'
import type { InitSettings } from './settings.ts'
import { sources } from './sources.ts'

/** Every file of a new project. `isPart`: it lies in another one, which has settings of its own for the package manager. */
export function projectFiles(settings: InitSettings, isPart: boolean): ScaffoldFile[] {
  return [
    { path: 'package.json', text: packageJson(settings) },
    ...(runtimeOf(settings.packageManager) === 'deno'
      ? [{ path: 'deno.json', text: denoJson() }]
      : [{ path: 'tsconfig.json', text: tsconfigJson(settings) }]),
    ...(settings.packageManager === 'yarn' && !isPart ? [{ path: '.yarnrc.yml', text: yarnrc }] : []),
    ...sources(settings),
    ...partSources(settings),
    ...documents(settings),
  ]
}

const yarnrc = `# Tools look for packages in a folder. Yarn 1 does not read this and has one anyway.
nodeLinker: node-modules
`
