import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalStorageProvider, MemoryStorageProvider } from 'framework'
import { describe } from 'vitest'
import { testProvider } from '../../contracts/storage-provider.ts'

describe('memory', () => testProvider({ start: async () => new MemoryStorageProvider(), stop: async () => {} }))

describe('disk', () => {
  const root = mkdtempSync(join(tmpdir(), 'framework-storage-'))
  testProvider({
    start: async () => new LocalStorageProvider({ root }),
    stop: async () => rmSync(root, { recursive: true, force: true }),
  })
})
