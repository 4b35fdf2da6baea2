import { describeAbuse } from './abuse.ts'

describeAbuse({ slow: 2_000, deaf: 200, gone: 3_000, left: 1_000, silent: 300 })
