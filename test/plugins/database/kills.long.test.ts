import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { describeKills } from './kills.ts'

describeKills('Postgres', hasPostgres, startPostgres)
