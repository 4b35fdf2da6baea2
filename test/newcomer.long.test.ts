import { test } from 'vitest'
import { managers, walk } from './support/newcomer.ts'

// newcomer.test.ts has the way with npm, without a second installation.
test.each(managers)('a newcomer gets from a clone to a server in production with $name', (manager) =>
  walk(manager, true))
