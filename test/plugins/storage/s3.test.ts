import { S3StorageProvider } from 'framework'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { testStorageProvider } from '../../contracts/storage-provider.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { s3Credentials, startS3 } from '../../support/s3.ts'

describe('S3', () => {
  let s3: OwnServer
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3.stop())
  testStorageProvider(
    () => new S3StorageProvider({ bucket: 'objects', endpoint: s3.url, credentials: s3Credentials }),
    { test, flaws: { copySource: true, order: true, replacing: true, deleting: true } },
  )
})
