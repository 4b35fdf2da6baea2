import { test } from 'vitest'
import { makeProject, managers, walk } from './support/newcomer.ts'

// package.test.ts has the way with npm, without a second installation.
test.each(managers)('a newcomer gets from a clone to a server in production with $name', async (manager) =>
  walk(manager, await makeProject(manager), true))
