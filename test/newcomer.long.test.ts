import { test } from 'vitest'
import { managers, walk } from './support/newcomer.ts'

// newcomer.test.ts has the whole way with npm.
test.each(managers.filter(({ name }) => name !== 'npm'))(
  'a newcomer gets from a clone to a server in production with $name',
  walk,
)
