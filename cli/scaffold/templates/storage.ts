import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../../../plugins/toolkit/read-file.ts'
import { packageName } from '../../package.ts'
import { awsSource, awsVariables, optional, required, requiredSecret, type Variable } from '../environment/variables.ts'
import type { ScaffoldFile } from '../files.ts'
import { ignoring } from '../ignore.ts'
import { envImport, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, named } from '../source.ts'

interface Provider {
  readonly imported: string
  readonly packages: readonly string[]
  /** Its variables. */
  readonly variables: readonly Variable[]
  /** The function that makes it. */
  readonly source: string
  /** The body of its test. */
  readonly test: string
}

const local: Provider = {
  imported: 'LocalStorageProvider',
  packages: [],
  variables: [
    required('STORAGE_ROOT', 'storage'),
    {
      ...requiredSecret('STORAGE_SECRET', '', randomBytes(24).toString('base64url')),
      test: 'a secret that only tests know',
    },
  ],
  source: `/** Files below STORAGE_ROOT. STORAGE_SECRET, of 16 characters or more, signs addresses to download and upload. */
export function files(root = env.get('STORAGE_ROOT')): LocalStorageProvider {
  return new LocalStorageProvider({ root, signedUrls: { secret: env.get('STORAGE_SECRET') } })
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
}

const s3: Provider = {
  imported: 'S3StorageProvider',
  packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@aws-sdk/s3-request-presigner'],
  // The endpoint is only for services other than AWS.
  variables: [required('S3_BUCKET', 'shop'), optional('S3_ENDPOINT', 'http://127.0.0.1:9000'), ...awsVariables],
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
}

const azure: Provider = {
  imported: 'AzureBlobStorageProvider',
  packages: ['@azure/storage-blob'],
  // The connection string is that of the emulator, Azurite.
  variables: [
    required('AZURE_STORAGE_CONTAINER', 'shop'),
    requiredSecret('AZURE_STORAGE_CONNECTION_STRING', 'UseDevelopmentStorage=true'),
  ],
  source: `/** Blobs of the container AZURE_STORAGE_CONTAINER, in the account that AZURE_STORAGE_CONNECTION_STRING names. */
export function files(container = env.get('AZURE_STORAGE_CONTAINER')): AzureBlobStorageProvider {
  return new AzureBlobStorageProvider({ container, connectionString: env.get('AZURE_STORAGE_CONNECTION_STRING') })
}`,
  test: s3.test,
}

const providers = { s3, azure, local } as const

export type StorageKind = keyof typeof providers
export const storageKinds = Object.keys(providers) as [StorageKind, ...StorageKind[]]

/** The storage of an application. */
export function storage(place: Place, kind: StorageKind): Scaffold {
  const provider = providers[kind]
  const file = inFolder(place, 'storage.ts')
  return {
    files: [
      { path: file, text: source(provider, envImport(place, file)) },
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
    variables: provider.variables,
  }
}

/** Objects must not be committed. */
function ignored({ project }: Place): ScaffoldFile {
  const file = join(project.root, '.gitignore')
  const text = existsSync(file) ? readRegularFileSync(file).toString('utf8') : ''
  return { path: '.gitignore', text: ignoring(text, ['/storage/']), existing: 'update' }
}

const source = ({ imported, source }: Provider, env: ReturnType<typeof envImport>) => `${imports(
  [packageName, named(imported, 'type StorageOptions')],
  env,
)}

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
