import { test } from 'vitest'
import { runtimes, staysInside, withFolders } from './swapped-folders.ts'

test.each(runtimes)('a folder that is swapped for a link leads no request outside: $name', (target) =>
  withFolders((folders) => staysInside(target, folders, ['100', folders.outside])))
