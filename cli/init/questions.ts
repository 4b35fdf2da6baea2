import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type PackageManager, packageManagers } from '../../plugins/shared/environment/optional-package.ts'
import { inRepository } from '../project/project.ts'
import type { Prompts } from '../prompts/prompts.ts'
import { existingName } from './existing.ts'
import { packageNameFrom, whyNoPackageName } from './package-name.ts'
import { parts as allParts, extras as extraFiles } from './parts.ts'
import type { InitSettings } from './settings.ts'

/** The decisions of `init`: given by flags, by answers, or left open. */
export type Answers = {
  readonly [Key in Exclude<keyof Decisions, 'framework'>]?: Decisions[Key] | undefined
}

type Decisions = InitSettings & Record<'install' | 'git', boolean>

/** Asks for the decisions that no flag has made. */
export async function askFor(
  given: Answers,
  { prompts, packageManager: detected }: { readonly prompts: Prompts; readonly packageManager: PackageManager },
): Promise<Answers> {
  const folder = given.folder ?? (await prompts.text('Folder', freeFolder(), isTaken))
  const own = basename(resolve(folder))
  const name =
    given.name ??
    existingName(resolve(folder)) ??
    (whyNoPackageName(own) === undefined
      ? own
      : await prompts.text('Name of the package', packageNameFrom(own) ?? 'my-app', whyNoPackageName))
  const packageManager = given.packageManager ?? (await prompts.choice('Package manager', packageManagers, detected))
  const parts = given.parts ?? new Set(await prompts.several('Which features should it include?', allParts))
  const extras = given.extras ?? new Set(await prompts.several('Which files should it add?', extraFiles))
  const git = given.git ?? (!inRepository(resolve(folder)) && (await prompts.confirm('Create a git repository?')))
  const install = given.install ?? (await prompts.confirm(`Install the packages with ${packageManager}?`))
  return { folder, name, packageManager, parts, extras, git, install }
}

/** This folder, if it has only the files of a new repository and of an installed package. */
function freeFolder(): string {
  const others = readdirSync(process.cwd()).filter(
    (file) =>
      !/^(\.git|\.gitignore|\.gitattributes|readme.*|licen[cs]e.*|package\.json|node_modules|.*[.-]lock\..*|.*\.lockb?)$/i.test(
        file,
      ),
  )
  return others.length === 0 ? '.' : 'my-app'
}

const isTaken = (folder: string) =>
  existsSync(join(folder, 'src/server.ts')) ? 'src/server.ts already exists.' : undefined
