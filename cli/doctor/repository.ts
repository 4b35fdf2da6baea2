import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'dotenv'
import type { DoctorFinding } from '../../plugins/shared/doctor/check.ts'
import { envForEveryone } from '../../plugins/shared/doctor/secrets.ts'
import { git } from '../../plugins/shared/environment/git.ts'
import { inRepository } from '../project/project.ts'
import { type ProjectCheck, textIn } from './view.ts'

const secretName = /SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|CREDENTIAL|PRIVATE|(^|_)(API)?_?KEY$/i
/** Names of public keys, and of settings about a secret, such as TOKEN_TTL=3600. */
const publicKey = /PUBLIC_?KEY|PUBLISHABLE_?KEY/i
const aboutSecret = /(TTL|EXPIR\w*|LENGTH|MIN|MAX|ROUNDS|ENABLED?|REQUIRED?|AGE|LIFETIME)$/i
const plain = /^(\d+\s?(ms|s|m|h|d|w|y)?|true|false|on|off|yes|no)$/i
const withPassword = /^[a-z][\w+.-]*:\/\/[^\s/:]*:\S+@/i

function isSecret([name, value]: readonly [string, string]): boolean {
  // A value that dotenvx has encrypted belongs in the repository.
  if (value.trim() === '' || value.startsWith('encrypted:')) return false
  if (withPassword.test(value)) return true
  return secretName.test(name) && !publicKey.test(name) && !(aboutSecret.test(name) && plain.test(value))
}

const secretsIn = (text: string) =>
  Object.entries(parse(text))
    .filter(isSecret)
    .map(([name]) => name)

const remedy = (file: string) =>
  `git rm --cached ${file}, add it to .gitignore, and replace its secrets: the history keeps them`

/** Files that belong in the repository. */
const forTests = /(^|\/)(tests?|__tests__|fixtures?|examples?)\//i
const isEnv = (file: string) => /(^|\/)\.env(\.[^/]*)?$/.test(file) && !envForEveryone.test(file.replace(/.*\//, ''))

/** The folders around a project of a workspace: `../`, `../../`. */
function foldersAbove(folder: string): readonly string[] {
  const [top = ''] = git(['rev-parse', '--show-cdup'], { folder }).lines
  return Array.from({ length: top.trim().split('/').length - 1 }, (_, i) => '../'.repeat(i + 1))
}

const envIn = (folder: string) => [`:(glob)${folder}.env`, `:(glob)${folder}.env.*`]

export const repositoryChecks: readonly ProjectCheck[] = [
  {
    code: 'doctor.not-asked',
    level: 'hint',
    find({ folder }) {
      const failure = inRepository(folder) ? git(['rev-parse', '--git-dir'], { folder }).failure : undefined
      if (failure === undefined) return undefined
      return {
        problem: `git cannot list the files of the repository: ${failure.split('\n')[0]}`,
        remedy:
          'Run it where git is installed and trusts the folder: git config --global --add safe.directory <folder>',
      }
    },
  },
  {
    code: 'git.env-file',
    level: 'error',
    find({ folder }) {
      const places = [...envIn('**/'), ...foldersAbove(folder).flatMap(envIn)]
      return git(['ls-files', '-z', '--', ...places], { folder })
        .lines.filter((file) => isEnv(file) && !forTests.test(file))
        .flatMap((file): DoctorFinding | [] => {
          const secrets = secretsIn(textIn(folder, file))
          if (secrets.length > 0)
            return { problem: `${file} is in the repository, with ${secrets.join(', ')}`, remedy: remedy(file) }
          // It is unknown whether the settings of another package have secrets.
          if (file.includes('/')) return []
          return {
            problem: `${file} is in the repository, so a secret that someone writes into it will be there too`,
            remedy: `git rm --cached ${file}, and add it to .gitignore; keep an .env.example there instead`,
            level: 'warning',
          }
        })
    },
  },
  {
    code: 'git.env-not-ignored',
    level: 'warning',
    find({ folder }) {
      const places = ['', ...foldersAbove(folder)].flatMap(envIn)
      const files = git(['ls-files', '-z', '--others', '--exclude-standard', '--', ...places], { folder }).lines
      return files
        .filter((file) => isEnv(file) && existsSync(join(folder, file)))
        .map((file) => ({
          problem: `git does not ignore ${file}, so the next "git add ." adds it`,
          remedy: `Add the line ${file.replace(/.*\//, '')} to .gitignore`,
        }))
    },
  },
  {
    code: 'git.private-key',
    level: 'error',
    find: ({ folder }) =>
      git(['ls-files', '-z', '--', '*.pem', '*.key', '*.p8'], { folder })
        .lines.filter((file) => !forTests.test(file))
        .filter((file) => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(textIn(folder, file)))
        .map((file) => ({ problem: `the private key ${file} is in the repository`, remedy: remedy(file) })),
  },
]
