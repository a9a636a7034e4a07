import { z } from 'zod'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { CreateRule, Rule, SimulateCall, SimulatedCall, ToolInfo } from '../rules.ts'
import { del, get, Nothing, post } from './route.ts'

export const ruleRoutes = {
  listRules: get('/api/rules', {
    reach: 'workspace',
    summary: 'Rules, newest first. With `agentId`: those for this agent and for all agents.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ rules: z.array(Rule), nextCursor: NextCursor }),
    shows: ['rules'],
  }),
  createRule: post('/api/rules', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Create a rule. Returns an existing rule that says the same.',
    body: CreateRule,
    status: 201,
    answer: z.object({ rule: Rule }),
    errors: ['agent_not_found'],
  }),
  deleteRule: del('/api/rules/:ruleId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Delete a rule.',
    params: z.object({ ruleId: Id }),
    answer: Nothing,
    errors: ['rule_not_found'],
  }),
  simulateCall: post('/api/rules/simulate', {
    reach: 'machine',
    summary: 'How would this call be decided? Nothing runs.',
    body: SimulateCall,
    answer: SimulatedCall,
    errors: ['tool_not_found', 'agent_not_found', 'job_not_found'],
  }),
  listTools: get('/api/tools', {
    reach: 'workspace',
    summary: 'The tools of agents and what coding programs do, with the accepted tools of MCP servers behind them.',
    answer: z.object({ tools: z.array(ToolInfo) }),
    shows: ['mcp_servers'],
  }),
}
