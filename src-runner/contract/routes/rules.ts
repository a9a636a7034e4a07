import { z } from 'zod'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { CreateRule, Rule, SimulateCall, SimulatedCall, ToolInfo } from '../rules.ts'
import { del, get, Nothing, post } from './route.ts'

export const ruleRoutes = {
  listRules: get('/api/rules', {
    summary: 'All rules, newest first. With `agentId`: those that hold for this agent, the rules for everyone included.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ rules: z.array(Rule), nextCursor: NextCursor }),
    shows: ['rules'],
  }),
  createRule: post('/api/rules', {
    summary: 'Write a rule. One that says the same as an existing rule answers that one.',
    body: CreateRule,
    status: 201,
    answer: z.object({ rule: Rule }),
    errors: ['agent_not_found'],
  }),
  deleteRule: del('/api/rules/:ruleId', {
    summary: 'Remove a rule.',
    params: z.object({ ruleId: Id }),
    answer: Nothing,
    errors: ['rule_not_found'],
  }),
  simulateCall: post('/api/rules/simulate', {
    summary: 'Would this call run, be asked or be refused? The same decision as for a real call; nothing runs.',
    body: SimulateCall,
    answer: SimulatedCall,
    errors: ['tool_not_found', 'agent_not_found', 'job_not_found'],
  }),
  listTools: get('/api/tools', {
    summary: 'The tools that agents have.',
    answer: z.object({ tools: z.array(ToolInfo) }),
  }),
}
