import { describeOutage } from './storage-outage.ts'
import { targets } from './targets.ts'

describeOutage(
  targets.filter(({ adapter }) => adapter === undefined),
  12,
)
