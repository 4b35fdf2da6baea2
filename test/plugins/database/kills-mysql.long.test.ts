import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import { describeKills } from './kills.ts'

describeKills('MySQL', hasMariadb, startMariadb)
