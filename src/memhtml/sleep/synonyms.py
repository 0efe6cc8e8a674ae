"""English words and phrases that say the same in the short sentences memories are made of.

Each group stands between bars; its first member names it. A group holds only what can replace each
other nearly everywhere: a word in a wrong group may fold two facts into one, while a missing word
only leaves two memories that say the same. So no two members may exclude each other, which
`memhtml.sleep.vetoes` could then no longer see.
"""

from __future__ import annotations

__all__ = ["GROUPS", "LIGHT"]

GROUPS = """
use utilize employ rely_on depend_on make_use_of leverage built_on built_upon
|start begin launch commence kick_off boot boots_up starts_up
|finish end complete conclude wrap_up
|happen takes_place
|change modify alter adjust amend
|fix repair mend resolve patch remedy
|buy purchase acquire procure
|get obtain receive retrieve fetch
|send deliver dispatch transmit
|show display present exhibit
|keep retain store preserve hold hold_on_to is_kept
|delete remove erase purge drop wipe discard
|create generate produce
|build construct assemble
|run execute operate
|need require demand must_have call_for necessitate
|help assist aid
|decide determine agree concur choose select pick opt_for settle_on go_with
|check verify validate confirm inspect examine
|approve sign_off sign_off_on signoff
|review go_over
|meet gather convene get_together gathering
|live reside dwell is_based
|work_for is_employed_by
|like enjoy be_fond_of is_fond_of fond
|prefer favor favour would_rather
|dislike hate detest cannot_stand can't_stand is_averse_to
|own responsible_for is_responsible_for in_charge_of take_care_of is_owned_by looks_after
 accountable_for belong_to is_maintained_by maintain ownership
|lead head manage head_up
|set_up configure setup configuration config is_set set_to setting
|deploy release ship roll_out rollout push_to_production bring_live go_live
|host serve_from is_hosted
|listen accept_connections
|call invoke
|retry re-attempt reattempt try_again attempt_again
|expire lapse run_out
|rotate renew cycle
|maximum max limit cap ceiling upper_bound upper_limit at_most no_more_than up_to
|minimum min lower_bound lower_limit
|raise increase grow up_to_from bump
|lower decrease reduce cut lessen
|big large huge sizable
|small little tiny
|fast quick rapid speedy
|slow sluggish
|main primary chief principal
|important critical crucial vital essential
|correct right accurate proper
|wrong incorrect mistaken
|hard difficult tricky
|easy simple straightforward
|new recent latest
|old aged
|whole entire
|error fault bug defect
|issue problem trouble
|fail break crash go_down
|outage downtime
|warn alert notify page
|message msg notice
|mail email e-mail
|phone telephone
|picture image photo photograph
|car automobile
|home house
|doctor physician
|child kid
|street road
|job batch_job
|company firm
|employee staff_member staffer worker
|colleague coworker co-worker teammate
|boss supervisor
|team squad group crew
|database db datastore data_store
|repository repo
|kubernetes k8s
|application app
|environment env
|production prod
|development dev
|document doc documentation paper write-up writeup
|information info
|specification spec
|administrator admin
|authentication authn
|authorization authz
|directory folder
|identifier id
|parameter param argument
|variable var
|function func
|reference ref
|temporary temp
|average avg mean
|number count quantity
|password passphrase passwd
|certificate cert
|server machine host_machine box
|backup back-up
|nightly every_night each_night overnight per_night
|daily every_day each_day per_day once_a_day day_by_day
|weekly every_week each_week per_week once_a_week
|monthly every_month each_month per_month once_a_month
|yearly annually annual every_year each_year per_year once_a_year
|hourly every_hour each_hour per_hour once_an_hour
|quarterly every_quarter each_quarter per_quarter
|because since due_to owing_to
|about regarding concerning
|over above more_than exceeds greater_than in_excess_of beyond
|under below less_than fewer_than
|after following
|before prior_to ahead_of
|during while
|near close_to next_to
|timeout time-out give_up_after
|wait pause
|speed pace
|price cost charge expense
|pay settle_up
|location situated lives_on lives_under whereabouts
|country nation
|city town
|holiday vacation
|trip journey travel
|food meal
|drink beverage
|allergic allergy
|birthday date_of_birth born_on
|speak talk
|teach instruct
|learn study
|write author
|say state
|tell inform
|ask request req inquire query
|answer reply respond response
|forbid prohibit ban
|allow permit let
|stop halt cease
|copy duplicate
|merge combine join
|split divide
|move relocate migrate
|replace substitute swap
|improve enhance
|test trial
|log record
|monitor watch observe
|compute calculate
|contain include comprise
|connect link
|publish post emit
|latency response_time
|memory ram
|disk storage_volume volume
|processor cpu
|library lib package
|pull_request merge_request pr
|invoice bill
|salary pay_packet wage
|deadline due_date
|goal objective aim target
|policy rule
|reason rationale
|result outcome
|benefit advantage
|drawback disadvantage
|replica instance
|part portion section
|type kind sort
|currently at_present right_now at_the_moment now these_days nowadays
|usually normally typically generally as_a_rule
|often frequently
|seldom rarely
|immediately at_once right_away straight_away instantly
|automatically by_itself on_its_own
|together jointly
|approximately roughly around
|twice two_times
|once one_time
|default out_of_the_box by_default
|lunch midday_meal
|dinner evening_meal supper
|garage car_park
|bicycle bike
|television tv
|laptop notebook_computer
|sick ill unwell
|clever smart
|happy glad
|sad unhappy
|quit resign step_down
|hire recruit take_on
|appoint nominate
|leave depart
|return come_back go_back
|shut close
|throttle rate-limit
|handle process_requests deal_with take_care
|uptime availability
|on-call oncall carry_the_pager hold_the_pager have_the_pager pager_duty
|frontend front-end
|backend back-end
|dataset data_set
|hostname host_name
|username user_name login_name
|website web_site site_on_the_web
|codebase code_base
|checklist check_list
|per_cent percent percentage
|due finished_by done_by completed_by ready_by be_done_by
|enable activate turn_on switch_on
|disable deactivate turn_off switch_off
|reject refuse decline turn_down
|drain empty
|restart reboot
|cause bring_about lead_to led_to
|sync synchronize
|login signin
|logout signout
|register enroll sign_up signup
|ensure make_sure
|find discover
|reach access get_to
|hand_over handover hand_off handoff
|clean_up cleanup tidy_up
|shut_down shutdown
|look_up lookup
|work_with collaborate cooperate
|cancel call_off
|postpone delay put_off defer push_back
|suggest propose recommend
|favourite favorite preferred
|colour color
|centre center
|licence license
|catalogue catalog
|behaviour behavior
|grey gray
|analyse analyze
|explain describe
|attempt try
|contact_person point_of_contact contact
"""

LIGHT = frozenset(
    """
    a an the this that these those such same own very also too just quite really actually basically
    simply indeed please remember note noted fyi known reminder reminded remind says said according
    i me my mine myself we us our ours you your yours he him his she her hers it its they them
    their theirs who whom whose which what when where why how there here
    am is are was were be been being do does did doing done have has had having
    can could will would shall should may might must ought need
    and or but nor if then else than as so of at by for with about to from in on into onto within
    per via across through upon toward towards against between among along around during while
    after before
    get gets got make makes made set sets take takes took taken give gives given put puts keep
    come comes happen happens occur occurs go goes went gone perform performed carry carried
    use used uses using
    currently presently now still already usually normally typically generally always regularly
    thing things way ways matter case value values fact facts kind sort type
    one ones each every all any both out up off down over
    s t d ll m re ve
    stand stands remain remains stay stays exist exists
    """.split()
)
"""Words that hold a sentence together: that one side has them and the other has not says nothing.

Where one of them does say something, as ``off``, ``every`` or ``must`` do, a veto reads it."""
