import { keyFiles } from '../keys/files.ts'
import { makeKeys } from '../keys/make.ts'
import { readKeyOptions } from '../keys/options.ts'
import { ownCommand } from '../run/own-command.ts'
import { scaffoldFlags, writeFiles } from '../scaffold/files.ts'

export const keyGenerate = ownCommand({
  flags: {
    type: { type: 'string', short: 't', value: 'type', default: 'rsa', description: 'rsa, ed25519, or secret' },
    bits: { type: 'number', value: 'number', description: 'Of an RSA key (default: 3072)' },
    name: {
      type: 'string',
      short: 'n',
      value: 'name',
      default: 'app',
      description: 'The prefix of the names of files and variables',
    },
    env: {
      type: 'boolean',
      short: 'e',
      description: 'Writes variables into .env and declares them, instead of writing files',
    },
    out: {
      type: 'string',
      short: 'o',
      value: 'path',
      description: 'The folder of the files (default: keys), or the file of --env (default: .env)',
    },
    'passphrase-env': {
      type: 'string',
      value: 'variable',
      description: 'Encrypts the private key with the value of this environment variable',
    },
    ...scaffoldFlags,
  },
  details:
    'A pair is written as keys/app-private.pem and keys/app-public.pem, or as APP_PRIVATE_KEY and APP_PUBLIC_KEY; a secret,\n' +
    '256 random bits for cookies and sessions, as keys/app-secret or APP_SECRET. Private files are readable only by their owner\n' +
    '(0600), listed in .gitignore, and never printed. With --env the files src/env.ts, .env.example\n' +
    'and .env.test of the project also get the variables, with other values for tests.',
  async run({ flags, print, note }) {
    const options = readKeyOptions(flags, process.env)
    const made = await makeKeys(options.type, options)
    const { root, files, notes, after } = await keyFiles(options, made, flags.force)
    writeFiles(root, files, { flags, print }, { type: options.type, folder: root })
    if (root !== process.cwd()) note(`In ${root}`)
    for (const line of [...notes, ...(flags['dry-run'] ? [] : after())]) note(line)
  },
})
