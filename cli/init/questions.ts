import { existsSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type PackageManager, packageManagers } from '../project/project.ts'
import type { Prompts } from '../prompts/prompts.ts'
import { inRepository } from './commands.ts'
import { existingName } from './existing.ts'
import { packageNameFrom, whyNoPackageName } from './package-name.ts'
import type { Extra, Part } from './settings.ts'

/** The decisions of `init`: given by flags, by answers, or left open. */
export interface Answers {
  readonly folder?: string | undefined
  readonly name?: string | undefined
  readonly packageManager?: PackageManager | undefined
  readonly parts?: ReadonlySet<Part> | undefined
  readonly extras?: ReadonlySet<Extra> | undefined
  readonly install?: boolean | undefined
  readonly git?: boolean | undefined
}

const descriptions: Readonly<Record<Part, string>> = {
  mqtt: 'messages of an MQTT broker',
  cron: 'scheduled jobs',
  graphql: 'GraphQL at /graphql',
}

const extraDescriptions: Readonly<Record<Extra, string>> = {
  container: 'a Dockerfile and a compose.yaml',
  agents: 'an AGENTS.md, for assistants',
  editor: 'settings of editors',
}

/** Asks for the decisions that no flag has made. */
export async function askFor(
  given: Answers,
  { prompts, packageManager: detected }: { prompts: Prompts; packageManager: PackageManager },
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
  const parts = given.parts ?? new Set(await prompts.several<Part>('Which features should it include?', descriptions))
  const extras = given.extras ?? new Set(await prompts.several<Extra>('Which files should it add?', extraDescriptions))
  const git = given.git ?? (!inRepository(resolve(folder)) && (await prompts.confirm('Create a git repository?', true)))
  const install = given.install ?? (await prompts.confirm(`Install the packages with ${packageManager}?`, true))
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
