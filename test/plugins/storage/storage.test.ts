import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalStorageProvider, MemoryStorageProvider } from 'framework'
import { afterAll, describe, test } from 'vitest'
import { testStorageProvider } from '../../contracts/storage-provider.ts'

describe('memory', () => testStorageProvider(() => new MemoryStorageProvider(), { test }))

describe('disk', () => {
  const root = mkdtempSync(join(tmpdir(), 'framework-storage-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  testStorageProvider(
    () => new LocalStorageProvider({ root, signedUrls: { secret: 'only for this test, long enough' } }),
    { test },
  )
})
