import { leakNothing } from './leaks.ts'

leakNothing(150)
