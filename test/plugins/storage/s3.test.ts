import { S3StorageProvider } from 'framework'
import { describe } from 'vitest'
import { testProvider } from '../../contracts/storage-provider.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { s3Credentials, startS3 } from '../../support/s3.ts'

describe('S3', () => {
  let s3: OwnServer
  testProvider({
    async start() {
      s3 = await startS3()
      return new S3StorageProvider({ bucket: 'objects', endpoint: s3.url, credentials: s3Credentials })
    },
    stop: () => s3.stop(),
    flaws: { copySource: true, order: true, replacing: true, deleting: true },
  })
})
