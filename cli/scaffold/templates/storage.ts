import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../../../plugins/toolkit/read-file.ts'
import { packageName } from '../../package.ts'
import type { ScaffoldFile } from '../files.ts'
import { ignoring } from '../ignore.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, named } from '../source.ts'
import { awsSource, awsTypes, awsVariables, environment, optional, secret, textOr } from './environment.ts'

interface Provider {
  readonly imported: string
  readonly packages: readonly string[]
  /** Variables that it reads. */
  readonly variables: Readonly<Record<string, string>>
  /** The function that makes it. */
  readonly source: string
  /** What its test holds. */
  readonly test: string
  readonly environment: NonNullable<Scaffold['environment']>
}

const local: Provider = {
  imported: 'LocalStorageProvider',
  packages: [],
  variables: { STORAGE_ROOT: textOr('storage'), STORAGE_SECRET: secret },
  source: `/** Files below STORAGE_ROOT. With STORAGE_SECRET, of 16 characters or more, there are addresses to download and upload. */
export function files(root = env.get('STORAGE_ROOT')): LocalStorageProvider {
  const secret = env.get('STORAGE_SECRET')
  return new LocalStorageProvider({ root, ...(secret && { signedUrls: { secret } }) })
}`,
  test: `test('objects are kept in files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'storage-'))
  const storage = new Storage({ files: files(root) })

  await storage.putObject('notes/1.txt', 'hello', 'text/plain')
  assert.equal(await readFile(join(root, 'notes/1.txt'), 'utf8'), 'hello')
  assert.equal(await storage.getObject('notes/1.txt', 'text'), 'hello')
  await storage.deleteObject('notes/1.txt')
  assert.equal(await storage.exists('notes/1.txt'), false)

  await rm(root, { recursive: true })
})`,
  environment: {
    about:
      'In .env or the environment, without it the folder storage where the process runs, which .gitignore leaves out:',
    variables: ['STORAGE_ROOT=/var/lib/shop', 'STORAGE_SECRET=…'],
  },
}

const s3: Provider = {
  imported: 'S3StorageProvider',
  packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@aws-sdk/s3-request-presigner'],
  variables: { S3_BUCKET: textOr('shop'), S3_ENDPOINT: optional, ...awsTypes },
  source: `${awsSource}

/** Objects of the bucket S3_BUCKET. */
export function files(bucket = env.get('S3_BUCKET')): S3StorageProvider {
  const endpoint = env.get('S3_ENDPOINT')
  return new S3StorageProvider({ bucket, ...aws(), ...(endpoint && { endpoint }) })
}`,
  test: `test('the storage is made without a connection', async () => {
  const storage = new Storage({ files: files('reports') })

  await assert.rejects(storage.getObject('../secret'), { code: 'StorageKeyError' })
})`,
  environment: {
    about: 'In .env or the environment; S3_ENDPOINT only for another service than AWS:',
    variables: ['S3_BUCKET=shop', 'S3_ENDPOINT=http://127.0.0.1:9000', ...awsVariables],
  },
}

const azure: Provider = {
  imported: 'AzureBlobStorageProvider',
  packages: ['@azure/storage-blob'],
  variables: { AZURE_STORAGE_CONTAINER: textOr('shop'), AZURE_STORAGE_CONNECTION_STRING: secret },
  source: `/** Blobs of the container AZURE_STORAGE_CONTAINER, in the account that AZURE_STORAGE_CONNECTION_STRING names. */
export function files(container = env.get('AZURE_STORAGE_CONTAINER')): AzureBlobStorageProvider {
  const connectionString = env.get('AZURE_STORAGE_CONNECTION_STRING')
  return new AzureBlobStorageProvider({ container, ...(connectionString && { connectionString }) })
}`,
  test: s3.test,
  environment: {
    about: 'In .env or the environment:',
    variables: [
      'AZURE_STORAGE_CONTAINER=shop',
      'AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=…;AccountKey=…',
    ],
  },
}

const providers = { s3, azure, local } as const

export type StorageKind = keyof typeof providers
export const storageKinds = Object.keys(providers) as [StorageKind, ...StorageKind[]]

/** Where the objects of an application are. */
export function storage(place: Place, kind: StorageKind): Scaffold {
  const provider = providers[kind]
  const file = inFolder(place, 'storage.ts')
  return {
    files: [
      { path: file, text: source(provider) },
      { path: file.replace(/\.ts$/, '.test.ts'), text: test(place.testModule, provider, kind === 'local') },
      ...(kind === 'local' ? [ignored(place)] : []),
    ],
    packages: provider.packages,
    next: [
      `In ${place.server}:`,
      `  import { storageOptions } from '${importPath(place, file)}'`,
      `  new Server({ plugins: { storage: storageOptions } })`,
      `In a handler: await req.server.services.get('storage').putObject('notes/1.txt', 'hello', 'text/plain')`,
    ],
    environment: provider.environment,
  }
}

/** Objects are nothing to commit. */
function ignored({ project }: Place): ScaffoldFile {
  const file = join(project.root, '.gitignore')
  const text = existsSync(file) ? readRegularFileSync(file).toString('utf8') : ''
  return { path: '.gitignore', text: ignoring(text, ['/storage/']), existing: 'update' }
}

const source = ({ imported, source, variables }: Provider) => `${imports([
  packageName,
  named(imported, 'createEnvSchema', 'type StorageOptions'),
])}

${environment(variables)}

${source}

/** The options of the storage plugin. */
export const storageOptions: StorageOptions = { providers: { files: files() }, defaultProvider: 'files' }
`

const test = (module: string, provider: Provider, hasFiles: boolean) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ Storage }'],
  ['./storage.ts', '{ files }'],
  ...(hasFiles
    ? ([
        ['node:fs/promises', '{ mkdtemp, readFile, rm }'],
        ['node:os', '{ tmpdir }'],
        ['node:path', '{ join }'],
      ] as const)
    : []),
)}

${provider.test}
`
