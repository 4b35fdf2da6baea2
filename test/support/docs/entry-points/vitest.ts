export * from 'vitest'
export { test } from './observed.ts'
