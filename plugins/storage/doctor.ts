import { type DoctorCheck, missingPackage, productionWarning } from '../shared/doctor/check.ts'
import { peer } from '../shared/environment/optional-package.ts'
import type { StorageConfiguration } from './options.ts'
import { AzureBlobStorageProvider } from './providers/azure.ts'
import { MemoryStorageProvider } from './providers/memory.ts'
import { S3StorageProvider } from './providers/s3.ts'

export const checks: readonly DoctorCheck<StorageConfiguration>[] = [
  productionWarning('storage.memory-provider', ({ settings }) =>
    Object.entries(settings.providers)
      .filter(([, provider]) => provider instanceof MemoryStorageProvider)
      .map(([name]) => ({
        problem: `the objects of "${name}" are kept in memory: every restart deletes them`,
        remedy: `Give storage.providers.${name} a disk (LocalStorageProvider), S3 or Azure`,
      })),
  ),
  missingPackage(async ({ settings }) => {
    const providers = Object.values(settings.providers)
    if (providers.some((provider) => provider instanceof S3StorageProvider))
      await peer('@aws-sdk/client-s3', () => import('@aws-sdk/client-s3'), 'the storage in S3 (S3StorageProvider)')
    if (providers.some((provider) => provider instanceof AzureBlobStorageProvider))
      await peer('@azure/storage-blob', () => import('@azure/storage-blob'), 'AzureBlobStorageProvider')
  }),
]
