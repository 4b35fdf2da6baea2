import { leakNothing } from './leaks.ts'

leakNothing(10_000)
