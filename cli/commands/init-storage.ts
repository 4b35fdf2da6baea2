import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ownCommand } from '../run/own-command.ts'
import { awsVariables, optional, required, requiredSecret } from '../scaffold/environment/variables.ts'
import type { ScaffoldFile } from '../scaffold/files.ts'
import { ignoring } from '../scaffold/ignore.ts'
import { importPath, inFolder, type Place } from '../scaffold/place.ts'
import { generateFlags, isKind, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'
import { fromTemplate } from '../scaffold/template.ts'
import { textOf } from '../text-file.ts'

const providers = {
  s3: {
    provider: 'S3StorageProvider',
    packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@aws-sdk/s3-request-presigner'],
    // The endpoint is only for services other than AWS.
    variables: [required('S3_BUCKET', 'shop'), optional('S3_ENDPOINT', 'http://127.0.0.1:9000'), ...awsVariables],
  },
  azure: {
    provider: 'AzureBlobStorageProvider',
    packages: ['@azure/storage-blob'],
    // The connection string is that of the emulator, Azurite.
    variables: [
      required('AZURE_STORAGE_CONTAINER', 'shop'),
      requiredSecret('AZURE_STORAGE_CONNECTION_STRING', 'UseDevelopmentStorage=true'),
    ],
  },
  local: {
    provider: 'LocalStorageProvider',
    packages: [],
    variables: [
      required('STORAGE_ROOT', 'storage'),
      {
        ...requiredSecret('STORAGE_SECRET', '', randomBytes(24).toString('base64url')),
        test: 'a secret that only tests know',
      },
    ],
  },
}

type StorageKind = keyof typeof providers
const storageKinds = Object.keys(providers) as [StorageKind, ...StorageKind[]]

export const initStorage = ownCommand({
  details: `Writes src/storage.ts: the provider of the storage, from .env or the environment, and a test. Without --type the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: storageKinds.join('|'), description: 'The provider of the storage' },
    ...generateFlags,
  },
  run: (input) =>
    scaffoldOneOf(input, storageKinds, '', (place, kind) => {
      const { provider, packages, variables } = providers[kind]
      const values = { ...isKind(kind, storageKinds), provider, aws: fromTemplate('aws.ts').trimEnd() }
      return {
        files: [...moduleAndTest(place, 'storage', 'storage', values), ...(kind === 'local' ? [ignored(place)] : [])],
        packages,
        next: [
          `In ${place.server}:`,
          `  import { storageOptions } from '${importPath(place, inFolder(place, 'storage.ts'))}'`,
          `  new Server({ plugins: { storage: storageOptions } })`,
          `In a handler: await req.server.services.get('storage').putObject('notes/1.txt', 'hello', 'text/plain')`,
        ],
        variables,
      }
    }),
})

/** Objects must not be committed. */
function ignored({ project }: Place): ScaffoldFile {
  const file = join(project.root, '.gitignore')
  const text = textOf(file) ?? ''
  return { path: '.gitignore', text: ignoring(text, ['/storage/']), existing: 'update' }
}
